export interface PeerPlan {
  rounds: number;
  seconds: number;
  /** Seconds of load on each side before a cell's first round. */
  warmUpSeconds: number;
  heldStreams: number;
  /** Seconds in which they must have been opened. */
  openSeconds: number;
  /** Keys that are used for the first time, one after the other and 32 at a time. */
  coldKeys: { single: number; atOnce: number };
  /** Seconds of load after an upstream has hung. */
  hungSeconds: number;
  /** Minutes after which no further round begins. */
  minutes: number;
}

/** The plan whose figures the documentation shows. */
export const fullPeerPlan: PeerPlan = {
  rounds: 3,
  seconds: 4,
  warmUpSeconds: 2,
  heldStreams: 10_000,
  openSeconds: 45,
  coldKeys: { single: 30, atOnce: 150 },
  hungSeconds: 12,
  minutes: 75,
};

/** The plan that shows that every cell works; its figures are rough. */
export const quickPeerPlan: PeerPlan = {
  rounds: 1,
  seconds: 1,
  warmUpSeconds: 0.5,
  heldStreams: 2_000,
  openSeconds: 15,
  coldKeys: { single: 5, atOnce: 32 },
  hungSeconds: 5,
  minutes: 20,
};
