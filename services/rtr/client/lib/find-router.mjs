import { toRouterAddress, withParents } from './router-address.mjs';
import { listRouters } from './store/sign-ins.mjs';

/**
 * Finds the router to which an entered address belongs, which may be the address of one of the router's APIs.
 * @param {string | undefined} entered
 * @returns {string | undefined} undefined for the default router; the entered address if the person is not signed in to its router
 */
export function findRouter(entered) {
  if (entered === undefined) return undefined;
  const address = toRouterAddress(entered);
  const known = listRouters();
  return withParents(address).find((each) => known.includes(each)) ?? address;
}
