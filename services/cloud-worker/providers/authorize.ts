import type { Provider } from './provider.ts';

/** A key sent as `Authorization: Bearer` (RFC 6750), as all but a few providers want it. */
export const bearer: Provider['authorize'] = (key) => {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return () => headers;
};

/** A key sent as it is, in a header of the provider's own. */
export function keyHeader(name: string): Provider['authorize'] {
  return (key) => {
    const headers: Record<string, string> = key === undefined ? {} : { [name]: key };
    return () => headers;
  };
}
