export interface ApiAnswer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into it as they need
  body: any;
  headers: Headers;
}

/** A client of the console's API that keeps the cookie and sends the sign-in session's CSRF token, as the pages do. */
export class ConsoleClient {
  readonly url: string;
  /** `name=value`, as a browser sends it. */
  cookie: string | undefined;
  csrfToken: string | undefined;

  constructor(url: string) {
    this.url = url;
  }

  /** Sends a request to a path below `/console/api`, with further `headers`. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    const answer = await fetch(`${this.url}/console/api${path}`, {
      method,
      headers: {
        ...(this.cookie !== undefined && { cookie: this.cookie }),
        ...(this.csrfToken !== undefined && { 'x-csrf-token': this.csrfToken }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const cookies = answer.headers.getSetCookie();
    const set = (cookies.find((cookie) => /^(__Host-)?rtr=/.test(cookie)) ?? cookies[0])?.split(';')[0];
    if (set !== undefined) this.cookie = set.endsWith('=') ? undefined : set;
    const text = await answer.text();
    const answered: unknown = text === '' ? undefined : JSON.parse(text);
    if (typeof answered === 'object' && answered !== null && 'csrfToken' in answered)
      this.csrfToken = String(answered.csrfToken);
    return { status: answer.status, body: answered, headers: answer.headers };
  }

  get = (path: string) => this.ask('GET', path);
  post = (path: string, body: unknown = {}) => this.ask('POST', path, body);
  patch = (path: string, body: unknown) => this.ask('PATCH', path, body);
  put = (path: string, body: unknown) => this.ask('PUT', path, body);
  delete = (path: string) => this.ask('DELETE', path);

  signIn(email: string, password: string): Promise<ApiAnswer> {
    return this.post('/session', { email, password });
  }

  /** Returns a client with the same sign-in session at another node. */
  at(url: string): ConsoleClient {
    return Object.assign(new ConsoleClient(url), { cookie: this.cookie, csrfToken: this.csrfToken });
  }

  /** The id of the sign-in session, from the cookie. */
  get sessionId(): string {
    return this.cookie?.split('=')[1] ?? '';
  }
}
