import { toRouterAddress, listAddressAndParents } from './router-address.mjs';
import { listRouters } from './store/sign-ins.mjs';

/**
 * Finds the router to which an address belongs. The address may also be the address of one of the router's APIs.
 * @param {string | undefined} entered address that the person entered
 * @returns {string | undefined} undefined for the default router; the entered address if the person is not signed in to its router
 */
export function findRouter(entered) {
  if (entered === undefined) return undefined;
  const address = toRouterAddress(entered);
  const signedInRouters = listRouters();
  return listAddressAndParents(address).find((candidate) => signedInRouters.includes(candidate)) ?? address;
}
