import { createHash } from 'node:crypto';
import { createUserKey } from '#shared/broker/connection/user-key.ts';
import { isLoopback } from '#shared/core/own-addresses.ts';
import { isSameRouter } from '../up/cluster-addresses.ts';
import { findOwnCommand } from '../client/lib/own-command.mjs';
import { BoxError, newLineHint } from './box-error.ts';
import { readBoxState, writeBoxState, type JoinedBox } from './box-state.ts';
import type { RouterDoor } from './call-router.ts';
import { parseInvitation } from './parse-invitation.ts';
import { redeemInvitation } from './redeem-invitation.ts';

export interface JoinOptions {
  /** The invitation as a person pasted it; undefined to continue with the membership that this machine has. */
  line: string | undefined;
  /** Folder of the box. */
  folder: string;
  host: string;
  say: (text: string) => void;
  warn: (text: string) => void;
}

/**
 * Makes this machine a box of a router, unless it is one already. The key pair is stored before the router is asked, so that an interrupted
 * exchange can be repeated with the same invitation.
 * @throws BoxError
 */
export async function joinRouter({ line, folder, host, say, warn }: JoinOptions): Promise<JoinedBox> {
  const state = readBoxState(folder);
  const { joined, pending } = state;
  if (line === undefined) {
    if (joined) return joined;
    const message = pending
      ? `The exchange with ${pending.address} was not finished: run \`${findOwnCommand()} join\` with the same line again`
      : `This machine is no box yet: run \`${findOwnCommand()} join <address>#<token>\``;
    throw new BoxError('not_joined', `${message}; or ${newLineHint}.`);
  }
  const invitation = parseInvitation(line);
  const { address, fingerprint } = invitation;
  const digest = createHash('sha256').update(invitation.secret).digest('base64url');
  if (joined?.invitation === digest && isSameRouter(joined.address, address)) return joined;
  if (joined && !isSameDoor(joined, invitation))
    throw new BoxError(
      'joined_elsewhere',
      `This machine is the box ${joined.name} of ${joined.address}: run \`${findOwnCommand()} leave\` first, then this line again.`,
    );
  if (address.startsWith('http:') && !isLoopback(address))
    warn(`Nothing between this machine and ${address} is encrypted: use this only in a network that you trust.`);

  const isRepeated = pending?.invitation === digest && isSameDoor(pending, invitation);
  const key = isRepeated ? pending.key : createUserKey();
  writeBoxState(folder, { ...state, pending: { address, fingerprint, invitation: digest, key } });
  const admission = await redeemInvitation(invitation, { key: key.publicKey, host });
  const box: JoinedBox = { address, fingerprint, invitation: digest, key, ...admission };
  writeBoxState(folder, { v: 1, joined: box });
  say(
    joined
      ? `${address} has accepted this machine anew, as ${box.name}. Its earlier credential, ${joined.name}, can be revoked in the console.`
      : `${address} has accepted this machine as ${box.name}.`,
  );
  return box;
}

/** Whether two doors lead to the same router. Its address may have changed, if its certificate is the same. */
function isSameDoor(one: RouterDoor, other: RouterDoor): boolean {
  if (one.fingerprint !== undefined && one.fingerprint === other.fingerprint) return true;
  return isSameRouter(one.address, other.address);
}
