import { randomBytes } from 'node:crypto';
import { Programs, type TokenOutcome } from '#shared/accounts/sign-in/programs/programs.ts';
import { makeAdmin, openKeyStore, type OpenKeyStore } from './open-key-store.ts';

export type IssuedTokens = Extract<TokenOutcome, { state: 'issued' }>;

/** The caller's facts in a program's request. */
export const asked = { client: 'Claude Code', address: '192.0.2.1' };

export interface NodeOptions {
  /** Default: the cluster's. */
  secrets?: readonly Uint8Array[];
  /** Store for its accounts. Default: the test's own connection. */
  store?: Pick<OpenKeyStore, 'accounts' | 'connection'>;
}

/** Opens the programs of a cluster with one person, Ada, for the running test. */
export async function openPrograms() {
  const open = await openKeyStore();
  const secret = randomBytes(32);
  const { teams } = open.accounts;
  /** Another node of the same cluster. */
  const addNode = ({ secrets = [secret], store = open }: NodeOptions = {}): Programs =>
    new Programs(store.connection.redis, open.prefix, {
      ...store.accounts,
      secrets: () => secrets,
      report: (record) => open.unreadable.push(record),
    });
  const programs = addNode();
  const ada = await makeAdmin(open);
  const team = await teams.create('Research');
  await teams.setMember(team.id, ada.id, 'member');
  let signIns = 1;
  /**
   * Makes Ada approve the sign-in of a program.
   * @returns its device code
   */
  const approve = async ({ teamId, clientId }: { teamId?: string; clientId?: string } = {}) => {
    const from = { ...asked, address: `192.0.2.${signIns++}`, clientId };
    const { deviceCode, userCode } = await programs.devices.begin(from);
    await programs.devices.approve(userCode, ada, teamId);
    return deviceCode;
  };
  /** Signs a program in for Ada. */
  const signIn = async (teamId?: string) => issued(await programs.claim(await approve(teamId ? { teamId } : {})));
  /** Sends the refresh token of a program and returns the outcome. */
  const refresh = ({ tokens }: Pick<IssuedTokens, 'tokens'>) => programs.refresh(tokens.refreshToken);
  /** Refreshes a program's tokens and returns the new ones. */
  const renew = async (of: Pick<IssuedTokens, 'tokens'>) => issued(await refresh(of));
  return { ...open, programs, ada, team, addNode, approve, signIn, refresh, renew };
}

export type OpenPrograms = Awaited<ReturnType<typeof openPrograms>>;

/**
 * Returns the issued tokens.
 * @throws an Error if the outcome has none
 */
export function issued(outcome: TokenOutcome): IssuedTokens {
  if (outcome.state !== 'issued') throw new Error(`no tokens: ${outcome.state}`);
  return outcome;
}
