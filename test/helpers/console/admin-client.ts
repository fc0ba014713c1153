import type { ApiAnswer } from './console-client.ts';

/** A program that calls the Admin API with a token. */
export class AdminClient {
  readonly url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** Sends a request to a path below `/api/admin/v1`. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    const answer = await fetch(`${this.url}/api/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
  }

  get = (path: string) => this.ask('GET', path);
  post = (path: string, body: unknown = {}) => this.ask('POST', path, body);
  patch = (path: string, body: unknown, headers?: Record<string, string>) => this.ask('PATCH', path, body, headers);
  put = (path: string, body: unknown) => this.ask('PUT', path, body);
  delete = (path: string) => this.ask('DELETE', path);
}
