import type { Logger } from '#shared/core/log.ts';
import type { Provider } from './providers/provider.ts';

/** Milliseconds between two lines about one and the same trouble. */
const quietMs = 60_000;

/**
 * Makes the function that tells the operator of answers that only the operator can mend: a key that is not taken, an
 * account that is empty. Clients are told no more than that the upstream failed. Each trouble is told once a minute.
 */
export function createRefusalReport({ title }: Pick<Provider, 'title'>, log: Logger): (status: number) => void {
  const toldAt = new Map<string, number>();
  return (status) => {
    const trouble = troubleOf(status);
    if (trouble === undefined) return;
    const now = performance.now();
    if (now - (toldAt.get(trouble) ?? -Infinity) < quietMs) return;
    toldAt.set(trouble, now);
    log.error({ status }, `${title} ${trouble}`);
  };
}

function troubleOf(status: number): string | undefined {
  switch (status) {
    case 401:
      return "refuses the router's key: check the variable that holds it";
    case 402:
      return 'wants to be paid first: check the account';
    case 403:
      return "does not let the router's key do this: check what the key and the account are allowed";
    default:
      return undefined;
  }
}
