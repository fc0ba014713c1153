/** How much of one limit is left. */
export interface LimitLeft {
  limit: number;
  remaining: number;
  /** When all of it is there again, in ms since 1970. */
  resetsAt: number;
}

/** Where a client stands with its limits of requests and of tokens; what is not limited is undefined. */
export interface LimitStanding {
  /** The time, in ms since 1970. */
  at: number;
  requests: LimitLeft | undefined;
  tokens: LimitLeft | undefined;
}
