import { ownContract } from '#shared/broker/contract/contract-range.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';

/** The stats of an ingress without any activity. */
export const noStats: IngressStats = {
  v: ownContract.newest,
  at: 0,
  requests: [],
  tokens: [],
  errors: [],
  firstToken: [],
  activeStreams: 0,
  servedByTier: {},
  lanes: [],
  failures: [],
};
