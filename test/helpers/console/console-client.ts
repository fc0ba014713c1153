/** What the API of the console has answered. */
export interface ApiAnswer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into it as they need
  body: any;
  headers: Headers;
}

/** A browser, as far as the console's API goes: it keeps the cookie, and sends the CSRF token of the session. */
export class ConsoleClient {
  readonly url: string;
  /** `name=value`, as the browser would send it. */
  cookie: string | undefined;
  csrfToken: string | undefined;

  constructor(url: string) {
    this.url = url;
  }

  /** Asks the API below `/console/api`; `headers` come on top of what a browser sends. */
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
    const set = answer.headers.getSetCookie()[0]?.split(';')[0];
    if (set !== undefined) this.cookie = set.endsWith('=') ? undefined : set;
    const text = await answer.text();
    const told: unknown = text === '' ? undefined : JSON.parse(text);
    if (typeof told === 'object' && told !== null && 'csrfToken' in told) this.csrfToken = String(told.csrfToken);
    return { status: answer.status, body: told, headers: answer.headers };
  }

  get = (path: string) => this.ask('GET', path);
  post = (path: string, body: unknown = {}) => this.ask('POST', path, body);
  patch = (path: string, body: unknown) => this.ask('PATCH', path, body);
  put = (path: string, body: unknown) => this.ask('PUT', path, body);
  delete = (path: string) => this.ask('DELETE', path);

  signIn(email: string, password: string): Promise<ApiAnswer> {
    return this.post('/session', { email, password });
  }

  /** The session's id: what a thief of the cookie would have. */
  get sessionId(): string {
    return this.cookie?.split('=')[1] ?? '';
  }
}
