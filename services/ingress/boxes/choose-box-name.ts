import { roles } from '#shared/broker/connection/credential.ts';
import { openCredentialName } from '#shared/broker/contract/worker-address.ts';

/** Maximum characters of a credential's name. */
const maxLength = 64;

export interface NameWishes {
  /** The name that an administrator has chosen. */
  name: string | undefined;
  /** The host name that the box reports. */
  host: string;
}

/**
 * Chooses the name of a box, and adds -2, -3 and so on to a name that is taken. A name that derives from the host is the box's own choice, so
 * it is never a name with more rights: that of a tier's own credential, or one with an entry in the registry.
 * @param isTaken whether another valid credential has the name
 * @param hasEntry whether the registry has an entry for credentials of the name
 */
export function chooseBoxName(
  { name, host }: NameWishes,
  isTaken: (name: string) => boolean,
  hasEntry: (name: string) => boolean,
): string {
  const base = name ?? toCredentialName(host);
  const mayHave = (each: string): boolean =>
    each === name || (!roles.some((role) => role === each) && each !== openCredentialName && !hasEntry(each));
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `-${number}`;
    const chosen = `${base.slice(0, maxLength - suffix.length)}${suffix}`;
    if (mayHave(chosen) && !isTaken(chosen)) return chosen;
  }
}

/** Converts the first label of a host name, for example `Joes-Box.local` into `joes-box`. */
function toCredentialName(host: string): string {
  const [label = ''] = host.toLowerCase().split('.');
  const name = label.replaceAll(/[^\w-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'box' : name;
}
