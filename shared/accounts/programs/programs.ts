import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { TeamStore } from '../people/team-store.ts';
import type { UserRecord } from '../people/user.ts';
import type { UserStore } from '../people/user-store.ts';
import type { ReportUnreadable } from '../redis/stored-records.ts';
import { UnconfirmedError, type Confirm } from '../sign-in/confirmation.ts';
import { AccessTokenVerifier } from './access-token-verifier.ts';
import { accessTokenMs, readAccessToken, signAccessToken, type ClaimedParty } from './access-tokens.ts';
import { DeviceCodes } from './device-codes.ts';
import { ProgramStore, type SignedOut } from './program-store.ts';
import { RefreshTokens, type RefreshToken } from './refresh-token.ts';
import { SigningKeys } from './signing-keys.ts';

/** The tokens that a program gets. */
export interface ProgramTokens {
  /** The address of the person who has signed the program in. */
  email: string;
  accessToken: string;
  /** Seconds for which it lasts. */
  expiresIn: number;
  refreshToken: string;
}

/** How a request for tokens ended. `ended` and `replayed`: the program of that person was signed out now. */
export type TokenOutcome =
  | { state: 'issued'; tokens: ProgramTokens; programId: string; userId: string }
  | { state: 'ended' | 'replayed'; programId: string; userId: string }
  | { state: 'pending' | 'slow down' | 'denied' | 'expired' | 'unknown' };

export interface ProgramsParts {
  /** Of the cluster, newest first; none while they are not known. */
  secrets: () => readonly Uint8Array[];
  users: UserStore;
  teams: TeamStore;
  report: ReportUnreadable;
}

/** The programs that people sign in by device flow, and their tokens. Every method throws `store_unavailable` as KeyStore does. */
export class Programs {
  readonly store: ProgramStore;
  readonly devices: DeviceCodes;
  readonly verifier: AccessTokenVerifier;
  readonly #keys: SigningKeys;
  readonly #refreshTokens: RefreshTokens;
  readonly #parts: ProgramsParts;
  #confirm: Confirm = async () => 'confirmed';

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string, parts: ProgramsParts) {
    const { secrets, users, teams, report } = parts;
    this.#parts = parts;
    this.#keys = new SigningKeys(redis, prefix, secrets);
    this.#refreshTokens = new RefreshTokens(secrets);
    this.store = new ProgramStore(redis, prefix, report);
    this.devices = new DeviceCodes(redis, prefix);
    this.verifier = new AccessTokenVerifier({ keys: this.#keys, users, teams, programs: this.store });
  }

  /** Has programs end when `confirm` says that their person is not let in any more. It is called at each refresh. */
  confirmWith(confirm: Confirm): void {
    this.#confirm = confirm;
  }

  /** The tokens of a device whose sign-in is approved; how it stands until then. */
  async claim(deviceCode: string, clientId?: string): Promise<TokenOutcome> {
    // What would fail afterwards is done before the code is used up.
    await this.#keys.current();
    const outcome = await this.devices.claim(deviceCode, clientId);
    if (outcome.state !== 'approved') return outcome;
    const { programId, userId, teamId } = outcome;
    return this.#issue({ programId, generation: 0 }, userId, teamId);
  }

  /** New tokens for a refresh token. */
  async refresh(refreshToken: string): Promise<TokenOutcome> {
    const token = this.#read(refreshToken);
    if (!token) return { state: 'unknown' };
    await this.#keys.current();
    const outcome = await this.store.refresh(token);
    if (outcome.state === 'unknown') return outcome;
    const { programId } = token;
    if (outcome.state !== 'refreshed') return { ...outcome, programId };
    return this.#issue(outcome.token, outcome.userId, outcome.teamId);
  }

  /** Signs out the program that a token of either kind belongs to; undefined when there is none. */
  async signOut(token: string): Promise<(SignedOut & { programId: string }) | undefined> {
    const read = this.#read(token);
    const programId = read?.programId ?? (await readAccessToken(this.#keys, token))?.sid;
    if (programId === undefined) return undefined;
    const signedOut = await this.store.signOut(programId, { generation: read?.generation });
    return signedOut && { ...signedOut, programId };
  }

  close(): void {
    this.#keys.close();
  }

  async #issue(token: RefreshToken, userId: string, teamId: string | undefined): Promise<TokenOutcome> {
    const { users, teams } = this.#parts;
    const { programId } = token;
    // They may have left the team since the script has looked: an announcement of that counts for tokens that were made before it only.
    const [person, team, members] = await Promise.all([
      users.find(userId),
      teamId === undefined ? undefined : teams.find(teamId),
      teamId === undefined ? undefined : teams.membersOf(teamId),
    ]);
    if (
      !person ||
      (teamId !== undefined && (!team || members?.has(userId) !== true)) ||
      !(await this.#isLetIn(person))
    ) {
      await this.store.signOut(programId);
      return { state: 'ended', programId, userId };
    }
    const accessToken = await signAccessToken(this.#keys, {
      sub: userId,
      sid: programId,
      epoch: person.epoch,
      user: claimed(person),
      ...(team && { team: { ...claimed(team), id: team.id } }),
    });
    const refreshToken = this.#refreshTokens.write(token);
    if (refreshToken === undefined) throw secretUnknown();
    const tokens = { email: person.email, accessToken, expiresIn: accessTokenMs / 1_000, refreshToken };
    return { state: 'issued', tokens, programId, userId };
  }

  /** @throws UnconfirmedError while it is not known whether the provider of the person lets them in */
  async #isLetIn(person: UserRecord): Promise<boolean> {
    const confirmation = await this.#confirm(person);
    if (confirmation === 'unknown') throw new UnconfirmedError();
    return confirmation === 'confirmed';
  }

  /** @throws RouterError `store_unavailable` while the secret of the cluster is not known */
  #read(refreshToken: string): RefreshToken | undefined {
    if (this.#parts.secrets().length === 0) throw secretUnknown();
    return this.#refreshTokens.read(refreshToken);
  }
}

function claimed({ name, limits, weight, ceiling }: ClaimedParty): ClaimedParty {
  return { name, ...(limits && { limits }), ...(weight !== undefined && { weight }), ...(ceiling && { ceiling }) };
}

function secretUnknown(): RouterError {
  const message = 'The secret of the cluster is not known yet. Please try again soon.';
  return new RouterError('store_unavailable', message, { retryAfter: 2 });
}
