import type { Response } from 'express';
import type { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { LimitedParty, PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { TokenPrice } from '#shared/accounts/prices/model-price.ts';
import type { PriceTable } from '#shared/accounts/prices/price-table.ts';

/** What the pages about use and prices work with. */
export interface UsageParts {
  usage: Pick<UsageReader, 'report' | 'requests' | 'export' | 'keyNames'>;
  limits: Pick<LimitKeeper, 'read'>;
  prices: Pick<PriceTable, 'list' | 'change' | 'remove' | 'changed'>;
  /** Whose request it is, and whose use that person may see. */
  viewerOf: (response: Response) => UsageViewer | Promise<UsageViewer>;
  /** What people and teams are called; those that are gone may be missing. */
  namesOf: (parties: readonly LimitedParty[]) => Promise<ReadonlyMap<LimitedParty, string>>;
  /** Everybody with limits whose use concerns a person: the own and their keys, the own teams and theirs; for an admin all. */
  limitedParties: (viewer: UsageViewer) => Promise<readonly (PartyLimits & { name: string })[]>;
  /** Writes a changed price into the audit trail; an absent price is the one that holds by itself. */
  notePriceChange: (
    response: Response,
    model: string,
    prices: { before: TokenPrice | undefined; after: TokenPrice | undefined },
  ) => Promise<void>;
}
