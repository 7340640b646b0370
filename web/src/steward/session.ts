/** The session token, which only pages of this origin can send, in a header.
 *
 * Browsers send cookies to every port of a host, and so to other servers on the same machine. Local
 * storage is separate for every port, and no browser sends it anywhere by itself.
 */

const KEPT = "hushway-session";
const LOGIN_LINK = /^#token=([A-Za-z0-9_-]+)$/;
// Where a browser stores nothing, the session lasts until the page is closed.
let session: string | null = null;

/** The one-time token of a login link. */
export function tokenIn(hash: string): string | null {
  return LOGIN_LINK.exec(hash)?.[1] ?? null;
}

export function keepSession(token: string): void {
  session = token;
  try {
    localStorage.setItem(KEPT, token);
  } catch {
    // Without storage this page still works.
  }
}

/** The header with the session token. */
export function sessionHeaders(): Record<string, string> {
  const token = storedSession() ?? session;
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

// Another tab may have logged in again meanwhile, so the stored token is used.
function storedSession(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}
