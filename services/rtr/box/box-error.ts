/** The causes for which a box cannot join, serve or leave. */
export type BoxErrorCode =
  | 'invalid_invitation'
  | 'invitation_refused'
  | 'unreachable'
  | 'certificate_changed'
  | 'not_a_router'
  | 'router_too_old'
  | 'router_failed'
  | 'not_joined'
  | 'joined_elsewhere'
  | 'box_refused'
  | 'busy'
  | 'no_service';

/** Thrown when a box cannot join, serve or leave. The message is written for the user, and says what to do. */
export class BoxError extends Error {
  override name = 'BoxError';
  readonly code: BoxErrorCode;

  constructor(code: BoxErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Whether only a person can end the cause, so that a new start of the box would fail again. */
  get isLasting(): boolean {
    return this.code === 'not_joined' || this.code === 'box_refused';
  }
}

/** What to do about an invitation that cannot be used. */
export const newLineHint = 'ask for a new line: `rtr invite worker`, or "Add a worker" in the console';
