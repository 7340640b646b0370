/** The session token: sent in a header by pages of this very address, and by nothing else.
 *
 * Browsers send cookies to every port of a host, and so to other servers on the same machine. What
 * a page stores is kept apart by port as well, and no browser sends it anywhere by itself.
 */

const KEPT = "hushway-session";
const ENTRANCE = /^#token=([A-Za-z0-9_-]+)$/;
// Where a browser stores nothing, the session lasts until the page is closed.
let session: string | null = null;

/** The token of the address that lets a browser in, once. */
export function tokenIn(hash: string): string | null {
  return ENTRANCE.exec(hash)?.[1] ?? null;
}

export function keepSession(token: string): void {
  session = token;
  try {
    localStorage.setItem(KEPT, token);
  } catch {
    // This page can still work.
  }
}

/** What says to the server who asks. */
export function sessionHeaders(): Record<string, string> {
  const token = storedSession() ?? session;
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

// Another tab may have come in again meanwhile, so what is stored counts.
function storedSession(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}
