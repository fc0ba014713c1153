/** What the API has to say when it does not do as asked: a status of HTTP, a code, and a sentence that is fit to be shown. */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  readonly status: number;
  readonly code: string;
  /** The input that is wrong, by the contract's name. */
  readonly field: string | undefined;
  /** Seconds after which another try makes sense. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    { field, retryAfter }: { field?: string; retryAfter?: number } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

/** There is no such thing, or none that this person may know of. */
export function notFound(): ApiFailure {
  return new ApiFailure(404, 'not_found', 'There is no such thing, or you cannot see it.');
}

/** The person may know of it, and may not do that to it. */
export function forbidden(message = 'You are not allowed to do this.'): ApiFailure {
  return new ApiFailure(403, 'permission_denied', message);
}
