import { routerAddress, withParents } from './router-address.mjs';
import { knownRouters } from './store/sign-ins.mjs';

/**
 * The router that a person means by an address of it, such as that of one of its APIs.
 * @param {string | undefined} entered
 * @returns {string | undefined} undefined for the default one; an address that nobody is signed in to as it is
 */
export function chosenRouter(entered) {
  if (entered === undefined) return undefined;
  const address = routerAddress(entered);
  const known = knownRouters();
  return withParents(address).find((each) => known.includes(each)) ?? address;
}
