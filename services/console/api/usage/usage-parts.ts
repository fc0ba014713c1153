import type { Response } from 'express';
import type { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { LimitedParty, PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { TokenPrice } from '#shared/accounts/prices/model-price.ts';
import type { PriceTable } from '#shared/accounts/prices/price-table.ts';

/** The dependencies of the routes for usage and prices. */
export interface UsageParts {
  usage: Pick<UsageReader, 'report' | 'requests' | 'export' | 'keyNames'>;
  limits: Pick<LimitKeeper, 'read'>;
  prices: Pick<PriceTable, 'list' | 'change' | 'remove' | 'changed'>;
  /** Who sends the request, and whose usage they may see. */
  viewerOf: (response: Response) => UsageViewer | Promise<UsageViewer>;
  /** The names of people and teams; deleted ones may be missing. */
  namesOf: (parties: readonly LimitedParty[]) => Promise<ReadonlyMap<LimitedParty, string>>;
  /** Every limited party that a person may see: themselves and their teams, with the keys of both; for an admin, all. */
  limitedParties: (viewer: UsageViewer) => Promise<readonly (PartyLimits & { name: string })[]>;
  /** Records a changed price in the audit trail. Undefined stands for the price of the shipped table. */
  notePriceChange: (
    response: Response,
    model: string,
    prices: { before: TokenPrice | undefined; after: TokenPrice | undefined },
  ) => Promise<void>;
}
