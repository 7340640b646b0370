/** Public guesses of the crowd, which a browser keeps between visits. */

export interface Guess {
  readonly trips?: number;
  readonly people?: number;
}

export function keptGuess(plan: string): Guess {
  try {
    return JSON.parse(localStorage.getItem(`hushway-guess-${plan}`) ?? "{}") as Guess;
  } catch {
    return {};
  }
}

export function keepGuess(plan: string, guess: Guess): void {
  try {
    localStorage.setItem(`hushway-guess-${plan}`, JSON.stringify(guess));
  } catch {
    // Without storage a guess lasts as long as its page.
  }
}
