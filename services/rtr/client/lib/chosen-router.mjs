import { routerAddress, withParents } from './router-address.mjs';
import { knownRouters } from './store/sign-ins.mjs';

/**
 * Finds the router that a person means by an address at it, such as that of one of its APIs.
 * @param {string | undefined} entered
 * @returns {string | undefined} undefined for the default router; the address itself where there is no sign-in to it
 */
export function findRouter(entered) {
  if (entered === undefined) return undefined;
  const address = routerAddress(entered);
  const known = knownRouters();
  return withParents(address).find((each) => known.includes(each)) ?? address;
}
