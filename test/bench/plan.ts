export interface Plan {
  /** Requests before the first measurement. Node compiles hot code in steps, the last of them after some thousand requests. */
  warmUpRequests: number;
  /** Rounds of each comparison, and seconds of one. */
  rounds: number;
  seconds: number;
  /** Streams at once while added time to first token is measured. */
  streams: number;
  openStreams: number;
  flatRequests: number;
  budget: Budget;
}

export interface Budget {
  /** CPU milliseconds of ingress, NATS, worker and Redis together, for a request that does not stream. */
  cpuMs: number;
  /** Milliseconds that the cluster adds to the time to first token, at the median. */
  addedFirstMs: number;
  /** Resident bytes per open stream, over all components. */
  openStreamBytes: number;
  /** Bytes that JavaScript still holds after a request, over all components. */
  heldBytes: number;
  /** Resident bytes that a request leaves behind, over all components. */
  rssBytes: number;
}

/**
 * CPU milliseconds that a request of the bare prototype took on the machine on which the limits of time were set, a quiet one with two
 * cores. The same figure here shows how far this machine can be compared with that one.
 */
export const referenceBareCpuMs = 0.28;

/** Measures the numbers that this project promises. Takes about eight minutes. */
export const fullPlan: Plan = {
  warmUpRequests: 20_000,
  rounds: 3,
  seconds: 10,
  streams: 256,
  openStreams: 5_000,
  flatRequests: 200_000,
  budget: { cpuMs: 0.4, addedFirstMs: 3, openStreamBytes: 60 * 1024, heldBytes: 20, rssBytes: 100 },
};

/** Shows in half a minute, on any machine and beside other work, that nothing is grossly wrong. */
export const quickPlan: Plan = {
  warmUpRequests: 500,
  rounds: 1,
  seconds: 1,
  streams: 64,
  openStreams: 200,
  flatRequests: 2_000,
  budget: { cpuMs: 4, addedFirstMs: 500, openStreamBytes: 200 * 1024, heldBytes: 5_000, rssBytes: 100_000 },
};
