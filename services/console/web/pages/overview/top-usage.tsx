import { Anchor, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { UsageItem } from '../../../contract/usage.ts';
import { DataList } from '../../parts/data-list.tsx';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';

export interface TopUsageProps {
  title: string;
  items: readonly UsageItem[];
  /** Builds the URL of the log with the item's requests. */
  buildLink?: (item: UsageItem) => string;
}

export function TopUsage({ title, items, buildLink }: TopUsageProps) {
  return (
    <section>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {items.length === 0 ? (
        <Text size="sm" c="dimmed">
          None.
        </Text>
      ) : (
        <DataList
          label={title}
          rows={items}
          getId={({ id }) => id}
          columns={[
            { label: 'Name', render: (item) => <ItemName item={item} link={buildLink?.(item)} /> },
            { label: 'Requests', render: ({ requests }) => formatCount(requests), isNumber: true },
            { label: 'Failed', render: ({ failed }) => formatCount(failed), isNumber: true },
            { label: 'Tokens', render: ({ tokens }) => formatShort(tokens), isNumber: true },
            { label: 'Cost', render: ({ cost }) => formatMoney(cost), isNumber: true },
          ]}
        />
      )}
    </section>
  );
}

function ItemName({ item: { id, name, owner }, link }: { item: UsageItem; link: string | undefined }) {
  const text = <span className="break">{name}</span>;
  return (
    <div>
      {link === undefined || id === 'other' ? (
        text
      ) : (
        <Anchor component={Link} href={link} inherit>
          {text}
        </Anchor>
      )}
      {owner === undefined ? null : (
        <Text size="xs" c="dimmed" className="break">
          {owner}
        </Text>
      )}
    </div>
  );
}
