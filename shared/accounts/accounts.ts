import type { Redis } from 'ioredis';
import { BoxInvitationStore } from './boxes/box-invitation-store.ts';
import { AdminTokenStore } from './keys/admin-tokens/admin-token-store.ts';
import { KeyStore } from './keys/key-store.ts';
import { AuditTrail } from './people/audit-trail.ts';
import { ConsoleSettingsStore } from './people/console-settings.ts';
import { deletePerson, type PersonDeletion } from './people/delete-person.ts';
import { deleteTeam } from './people/delete-team.ts';
import { InvitationStore } from './people/invitation-store.ts';
import { LinkStore } from './people/link-store.ts';
import { TeamStore } from './people/team-store.ts';
import { UserStore } from './people/user-store.ts';
import { NameLock } from '#shared/store/redis/name-lock.ts';
import { StoreMarker } from '#shared/store/redis/store-marker.ts';
import { RegistryVersions } from './registry-versions/registry-versions.ts';
import { warnUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { SignInSessionStore } from './sign-in/session-store.ts';
import { SignInGuard } from './sign-in/sign-in-guard.ts';

/** The stores of accounts in Redis. They ignore fields that only a newer release defines. */
export interface Accounts {
  keys: KeyStore;
  users: UserStore;
  teams: TeamStore;
  invitations: InvitationStore;
  links: LinkStore;
  boxInvitations: BoxInvitationStore;
  sessions: SignInSessionStore;
  signInGuard: SignInGuard;
  settings: ConsoleSettingsStore;
  audit: AuditTrail;
  registryVersions: RegistryVersions;
  adminTokens: AdminTokenStore;
  nameLock: NameLock;
  storeMarker: StoreMarker;
  deletePerson: (id: string) => Promise<PersonDeletion>;
  deleteTeam: (id: string) => Promise<number | undefined>;
}

/**
 * Opens the stores of accounts.
 * @param prefix start of all names in Redis
 * @param report is called with every record that cannot be read
 */
export function openAccounts(redis: Redis, prefix: string, report: ReportUnreadable = warnUnreadable): Accounts {
  const users = new UserStore(redis, prefix, report);
  const invitations = new InvitationStore(redis, prefix, report);
  const settings = new ConsoleSettingsStore(redis, prefix, report);
  const idleMs = async (): Promise<number> => (await settings.read()).sessionHours * 3_600_000;
  const keys = new KeyStore(redis, prefix, report);
  const adminTokens = new AdminTokenStore(redis, prefix, report);
  const auditKeptMs = async (): Promise<number> => (await settings.read()).auditDays * 86_400_000;
  return {
    keys,
    users,
    teams: new TeamStore(redis, prefix, report),
    invitations,
    links: new LinkStore(redis, prefix, users, invitations),
    boxInvitations: new BoxInvitationStore(redis, prefix, users, report),
    sessions: new SignInSessionStore(redis, prefix, { users, idleMs, report }),
    signInGuard: new SignInGuard(redis, prefix),
    settings,
    registryVersions: new RegistryVersions(redis, prefix, report),
    audit: new AuditTrail(redis, prefix, { keptMs: auditKeptMs, report }),
    adminTokens,
    nameLock: new NameLock(redis, prefix),
    storeMarker: new StoreMarker(redis, prefix),
    deletePerson: (id) => deletePerson({ redis, prefix, users, keys, adminTokens }, id),
    deleteTeam: (id) => deleteTeam({ redis, prefix, keys }, id),
  };
}
