export const apiBase = '/console/api';

export class ApiFailure extends Error {
  override name = 'ApiFailure';
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: string;
  /** The contract's name for the invalid input; undefined if the failure concerns no single input. */
  readonly field: string | undefined;

  constructor(status: number, code: string, message: string, field?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
  }

  /** Returns the message if the failure concerns this input or a part of it, such as `limits.costPerDay` for the input `limits`. */
  findProblem(input: string): string | undefined {
    return this.field === input || this.field?.startsWith(`${input}.`) === true ? this.message : undefined;
  }
}

/** The session's token, which proves that a request comes from these pages; undefined while nobody is signed in. */
let csrfToken: string | undefined;

export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

/** Returns the headers that prove to the API, and to `/api/*`, that a request comes from a signed-in page. */
export function createCsrfHeaders(): Record<string, string> {
  return csrfToken === undefined ? {} : { 'x-csrf-token': csrfToken };
}

let onSignedOut: (failure: ApiFailure) => void = () => undefined;

/** Sets the listener that is called when an answer shows that the sign-in session has ended. */
export function setSignOutListener(listener: (failure: ApiFailure) => void): void {
  onSignedOut = listener;
}

/**
 * Calls the console's API.
 * @throws ApiFailure
 */
export async function callApi<Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await fetchSameOrigin(`${apiBase}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : createCsrfHeaders()),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  if (response.ok) return (await readJson(response)) as Answer;
  const failure = await readFailure(response);
  // An answer of 401 to a sign-in means a wrong password or code. It ends no session.
  if (failure.status === 401 && !/^\/session(?:\/|$)/.test(path)) onSignedOut(failure);
  if (failure.code === 'second_factor_demanded' && window.location.pathname !== '/account') {
    window.location.replace('/account');
  }
  throw failure;
}

/**
 * Fetches from this page's host.
 * @throws ApiFailure when there is no answer
 */
export async function fetchSameOrigin(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: 'same-origin', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiFailure(
      0,
      'unreachable',
      'The router does not answer. Check that it is running and that you are connected, then try again.',
    );
  }
}

/** Reads a failed answer: the API's code, message and field, or a general code and message if the body has none. */
export async function readFailure(response: Response): Promise<ApiFailure> {
  const { status, headers } = response;
  const error = ((await readJson(response).catch(() => undefined)) as { error?: Record<string, unknown> } | undefined)
    ?.error;
  const message =
    typeof error?.['message'] === 'string' ? error['message'] : `The router answered with status ${status}.`;
  // Some messages already state the waiting time, in minutes.
  const waitSeconds = message.includes('Try again in') ? null : headers.get('retry-after');
  return new ApiFailure(
    status,
    typeof error?.['code'] === 'string' ? error['code'] : String(status),
    waitSeconds !== null && /^\d+$/.test(waitSeconds) ? `${message} Try again in ${waitSeconds} s.` : message,
    typeof error?.['field'] === 'string' ? error['field'] : undefined,
  );
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}
