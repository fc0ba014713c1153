import { Anchor, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { UsageThing } from '../../../contract/usage.ts';
import { DataList } from '../../parts/data-list.tsx';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';

export interface TopThingsProps {
  title: string;
  things: readonly UsageThing[];
  /** Returns the URL of the page with the thing's requests. */
  linkOf?: (thing: UsageThing) => string;
}

export function TopThings({ title, things, linkOf }: TopThingsProps) {
  return (
    <section>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {things.length === 0 ? (
        <Text size="sm" c="dimmed">
          None.
        </Text>
      ) : (
        <DataList
          label={title}
          rows={things}
          idOf={({ id }) => id}
          columns={[
            { label: 'Name', render: (thing) => <ThingName thing={thing} link={linkOf?.(thing)} /> },
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

function ThingName({ thing: { id, name, owner }, link }: { thing: UsageThing; link: string | undefined }) {
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
