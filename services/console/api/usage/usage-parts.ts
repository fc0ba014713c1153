import type { FindNames } from '#shared/accounts/ledger/name-requests.ts';
import type { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { RefusalReader } from '#shared/accounts/ledger/refusals/refusal-reader.ts';
import type { TokenPrice } from '#shared/accounts/prices/model-price.ts';
import type { PriceTable } from '#shared/accounts/prices/price-table.ts';
import type { Actor } from '../actor.ts';

export interface LimitedParty extends PartyLimits {
  name: string;
  /**
   * The id under which people see the use, for example `key:<id>`. Absent: the id of the party. The two differ for a rotated key, because
   * its use counts for the first key in the chain of replacements.
   */
  shownAs?: string;
}

export interface UsageParts {
  usage: Pick<
    UsageReader,
    'readReport' | 'readHours' | 'listRequests' | 'findById' | 'readOverview' | 'export' | 'readKeyNames'
  >;
  refusals: Pick<RefusalReader, 'readReport' | 'listSamples'>;
  limits: Pick<LimitKeeper, 'read'>;
  prices: Pick<PriceTable, 'list' | 'change' | 'remove' | 'findChanged'>;
  /** Returns the viewer of an actor, which says whose usage the actor may see. */
  viewerOf: (actor: Actor) => UsageViewer;
  namesOf: FindNames;
  /**
   * Returns the parties with limits that a person may see: the person, their teams and the keys of both; for an administrator, all parties.
   */
  listLimitedParties: (viewer: UsageViewer) => Promise<readonly LimitedParty[]>;
  /** Writes a changed price into the audit trail. Undefined stands for the shipped price. */
  auditPriceChange: (
    actor: Actor,
    model: string,
    prices: { before: TokenPrice | undefined; after: TokenPrice | undefined },
  ) => Promise<void>;
}
