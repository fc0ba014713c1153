import type { Logger } from '#shared/core/log.ts';
import type { Provider } from './providers/provider.ts';

/** Minimum milliseconds between two log lines about the same problem. */
const quietMs = 60_000;

/**
 * Creates a function that logs statuses that only the operator can resolve, such as the status for a refused key or an empty account.
 * Clients see only that the upstream failed. Each problem is logged at most once a minute.
 */
export function createRefusalReport({ title }: Pick<Provider, 'title'>, log: Logger): (status: number) => void {
  const loggedAt = new Map<string, number>();
  return (status) => {
    const problem = describeProblem(status);
    if (problem === undefined) return;
    const now = performance.now();
    if (now - (loggedAt.get(problem) ?? -Infinity) < quietMs) return;
    loggedAt.set(problem, now);
    log.error({ status }, `${title} ${problem}`);
  };
}

function describeProblem(status: number): string | undefined {
  switch (status) {
    case 401:
      return "refuses the router's key: check the variable that holds it";
    case 402:
      return 'demands payment: check the account';
    case 403:
      return "does not permit this: check the permissions of the router's key and of its account";
    default:
      return undefined;
  }
}
