import { json, Router } from 'express';
import { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import type { BoxInvitation } from '#shared/accounts/boxes/box-invitation-store.ts';
import { changeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { isUserKey } from '#shared/broker/authority/credentials.ts';
import { endSlowBody } from '../http/end-slow-body.ts';
import type { IngressContext } from '../context.ts';
import { refuseMethod } from '../http/answer-error.ts';
import { issueBoxTokens, type BoxTokens } from './issue-box-tokens.ts';
import { answerJoinError, JoinError } from './join-error.ts';

/** Largest request of a box in bytes. A request with a long host name has about 450. */
const maxBodyBytes = 4 * 1024;

/** The path on the router's own port at which boxes reach NATS by WebSocket. */
const brokerPath = '/nats';

export type JoinContext = Pick<IngressContext, 'config' | 'arrivingBodies' | 'log' | 'authorityFolder'> & {
  serving: Pick<IngressContext['serving'], 'store'> & {
    accounts: Pick<Accounts, 'boxInvitations' | 'signInGuard'>;
    registry: Pick<IngressContext['serving']['registry'], 'current'>;
  };
};

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
 * Creates `POST /api/join`, with which a box redeems its invitation: it sends a public key of its own, and gets a token for each tier that it
 * may serve. The secret of the invitation is the only right that this needs.
 * @param noteJoin records that a box has joined; never throws
 */
export function createJoinRoutes(
  { config, serving, arrivingBodies, log, authorityFolder }: JoinContext,
  noteJoin: (joined: JoinedBox) => Promise<void>,
): Router {
  const { boxInvitations, signInGuard } = serving.accounts;
  /** The boxes whose tokens are being issued, by the id of their invitation. A box that repeats its request waits for the same tokens. */
  const joining = new Map<string, Promise<BoxTokens>>();
  const routes = Router({ caseSensitive: true });
  const path = '/api/join';
  routes.use(path, (_, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    serving.store.assertIntact();
    next();
  });
  routes.use(path, endSlowBody(config.BODY_TIMEOUT_MS), arrivingBodies.createHandler(maxBodyBytes));
  routes.post(path, json({ limit: maxBodyBytes, inflate: false }), async (request, response) => {
    if (authorityFolder === undefined)
      throw new JoinError(409, 'no_authority', 'This router lets no boxes join: CREDENTIALS_DIR is not set.');
    const { data: body, error } = joinSchema.safeParse(request.body);
    if (!body) {
      const field = error.issues[0]?.path.join('.') ?? '';
      const message = field === '' ? 'Send an object in JSON.' : `\`${field}\` is missing or not valid.`;
      throw new JoinError(400, 'invalid_request', message);
    }
    const address = request.ip ?? '';
    const invitation = await boxInvitations.redeem(body.token, body.key);
    if (typeof invitation === 'string') throw await refuse(invitation, address);
    const { box, tokens } = await findTokens(authorityFolder, invitation, { ...body, address });
    response.json({ v: 1, name: box, credentials: tokens, broker: brokerPath });
  });
  routes.all(path, refuseMethod('POST'));
  routes.use(path, answerJoinError(log));
  return routes;

  /** Returns the refusal of a secret. After many wrong ones from an address, says to wait. */
  async function refuse(reason: keyof typeof refusals, address: string): Promise<JoinError> {
    const { waitMs } = await signInGuard.takeJoin(address);
    if (waitMs === 0) {
      const [status, message] = refusals[reason];
      return new JoinError(status, `invitation_${reason}`, message);
    }
    const seconds = Math.ceil(waitMs / 1_000);
    const message = `Too many invitations from this address were refused. Try again in ${Math.ceil(seconds / 60)} minutes.`;
    return new JoinError(429, 'rate_limit_exceeded', message, seconds);
  }

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
      if (!isUserKey(key)) throw new JoinError(400, 'invalid_request', '`key` is not the public key of a NATS user.');
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
