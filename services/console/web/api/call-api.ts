/** Where the console's own API is. */
export const apiBase = '/console/api';

/** What went wrong, in a sentence that is fit to be shown. */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: string;
  /** The input that is wrong, by the contract's name. */
  readonly field: string | undefined;

  constructor(status: number, code: string, message: string, field?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
  }
}

/** What shows that a request comes from these pages; known while somebody is signed in. */
let csrfToken: string | undefined;

export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

/** The headers that prove to the API, and to `/api/*`, that a request comes from a signed-in page. */
export function csrfHeaders(): Record<string, string> {
  return csrfToken === undefined ? {} : { 'x-csrf-token': csrfToken };
}

let onSignedOut = (): void => undefined;

/** Calls back whenever an answer says that nobody is signed in any more. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/**
 * Asks the console's API.
 * @throws ApiFailure
 */
export async function callApi<Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await reach(`${apiBase}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : csrfHeaders()),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  if (response.ok) return (await readJson(response)) as Answer;
  const failure = await readFailure(response);
  if (failure.status === 401 && path !== '/session') onSignedOut();
  throw failure;
}

/** Fetches from the own host. @throws ApiFailure when there is no answer */
export async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: 'same-origin', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiFailure(
      0,
      'unreachable',
      'The router does not answer. Check that it runs and that you are connected, then try again.',
    );
  }
}

/** What a failed answer says, in the form of the console's API or of one of the formats. */
export async function readFailure(response: Response): Promise<ApiFailure> {
  const { status, headers } = response;
  const told = ((await readJson(response).catch(() => undefined)) as { error?: Record<string, unknown> } | undefined)
    ?.error;
  const message =
    typeof told?.['message'] === 'string' ? told['message'] : `The router answered with status ${status}.`;
  const wait = headers.get('retry-after');
  return new ApiFailure(
    status,
    typeof told?.['code'] === 'string' ? told['code'] : String(status),
    wait !== null && /^\d+$/.test(wait) ? `${message} Try again in ${wait} s.` : message,
    typeof told?.['field'] === 'string' ? told['field'] : undefined,
  );
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}
