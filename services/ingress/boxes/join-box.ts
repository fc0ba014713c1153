import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { BoxInvitation } from '#shared/accounts/boxes/box-invitation-store.ts';
import { changeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { isUserKey } from '#shared/broker/authority/credentials.ts';
import { BoxRefusal } from './box-refusal.ts';
import { parseBody, countBoxTry, requireFolder, type BoxContext } from './box-context.ts';
import { issueBoxTokens, type BoxTokens } from './issue-box-tokens.ts';

/** The path on the router's own port at which boxes reach NATS by WebSocket. */
const brokerPath = '/nats';

/** A box that has got its tokens. */
export interface JoinedBox {
  name: string;
  host: string;
  address: string;
  invitation: Pick<BoxInvitation, 'id' | 'tiers' | 'invitedBy'>;
}

const joinSchema = z.object({
  v: z.literal(1),
  token: z.string().max(100),
  key: z.string().regex(/^U[A-Z2-7]{55}$/),
  host: z.string().max(255),
});

/**
 * Creates the handler with which a box redeems its invitation: it sends a public key of its own, and gets a token for each tier that it may
 * serve. The secret of the invitation is the only right that this needs.
 * @param noteJoin records that a box has joined; never throws
 */
export function createJoinHandler(
  { serving, authorityFolder }: Pick<BoxContext, 'serving' | 'authorityFolder'>,
  noteJoin: (joined: JoinedBox) => Promise<void>,
): RequestHandler {
  const { boxInvitations, signInGuard } = serving.accounts;
  /** The boxes whose tokens are being issued, by the id of their invitation. A box that repeats its request waits for the same tokens. */
  const joining = new Map<string, Promise<BoxTokens>>();
  return async (request, response) => {
    const folder = requireFolder(authorityFolder);
    const { token, key, host } = parseBody(joinSchema, request.body);
    const address = request.ip ?? '';
    const invitation = await boxInvitations.redeem(token, key);
    if (typeof invitation === 'string') {
      await countBoxTry(signInGuard, address, 'join');
      const [status, message] = refusals[invitation];
      throw new BoxRefusal(status, `invitation_${invitation}`, message);
    }
    const { box, tokens } = await findTokens(folder, invitation, { key, host, address });
    response.json({ v: 1, name: box, credentials: tokens, broker: brokerPath });
  };

  /** Returns the tokens of a box. A repeated request gets the tokens that are stored, so it costs no signature. */
  async function findTokens(
    folder: string,
    invitation: BoxInvitation,
    { key, host, address }: { key: string; host: string; address: string },
  ): Promise<BoxTokens> {
    const { id, box, tokens } = invitation;
    if (box !== undefined && tokens) return { box, tokens };
    const running = joining.get(id);
    if (running) return running;
    const issuing = issue();
    joining.set(id, issuing);
    try {
      return await issuing;
    } finally {
      joining.delete(id);
    }

    async function issue(): Promise<BoxTokens> {
      // This takes milliseconds, so it is done only for a box with an invitation.
      if (!isUserKey(key)) throw new BoxRefusal(400, 'invalid_request', '`key` is not the public key of a NATS user.');
      const hasEntry = (name: string): boolean => Object.hasOwn(serving.registry.current().credentials, name);
      // The tokens are recorded in the authority before they are sent, because a box without a record could not be revoked.
      const made = await changeAuthority(folder, (authority) =>
        issueBoxTokens(authority, { invitation, key, host }, hasEntry),
      );
      await noteJoin({ name: made.box, host, address, invitation });
      await boxInvitations.noteJoined(id, made);
      return made;
    }
  }
}

const refusals = {
  unknown: [401, 'This invitation is unknown, or was withdrawn. Ask for a new one.'],
  expired: [401, 'This invitation has expired. Ask for a new one.'],
  used: [409, 'Another machine has used this invitation. Ask for a new one.'],
} as const;
