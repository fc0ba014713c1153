import { Badge, Group, Text } from '@mantine/core';
import type { ServedModel } from '../../../contract/live.ts';
import { formatCount, formatDuration, formatMoney, formatShort } from '../../parts/format.ts';
import { operationLabels } from '../../parts/operations.ts';
import { TierMark, tierNames } from '../../parts/tier-mark.tsx';

type Served = ServedModel['servedBy'][number];

export function Name({ model: { id, kind, notPermitted } }: { model: ServedModel }) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600} className="break">
        {id}
      </Text>
      {kind === 'auto' ? <Badge variant="default">any suitable model</Badge> : null}
      {kind === 'registered' ? <Badge variant="default">registered name</Badge> : null}
      {notPermitted ? <Badge color="gray">not permitted to you</Badge> : null}
    </Group>
  );
}

export function ServedBy({ model: { kind, servedBy } }: { model: ServedModel }) {
  return (
    <>
      {servedBy.map(({ tier, workers, models }) => (
        <Text key={tier} size="sm" component="div" {...(kind === 'model' ? {} : { title: models.join(', ') })}>
          <TierMark tier={tier} /> {workers} {workers === 1 ? 'worker' : 'workers'}
        </Text>
      ))}
    </>
  );
}

const shownOperations = 2;

export function Operations({ model: { operations } }: { model: ServedModel }) {
  const more = operations.length - shownOperations;
  return (
    <Text size="sm" title={operationLabels(operations)}>
      {operationLabels(operations.slice(0, shownOperations))}
      {more > 0 ? ` and ${more} more` : ''}
    </Text>
  );
}

export function Capabilities({ names }: { names: readonly string[] }) {
  return (
    <Group gap={4}>
      {names.map((name) => (
        <Badge key={name} variant="default" fw={500}>
          {name}
        </Badge>
      ))}
    </Group>
  );
}

/** Shows the prices of a million tokens of input and of output. If several tiers serve the model, each has its own line. */
export function Prices({ model: { servedBy } }: { model: ServedModel }) {
  return (
    <>
      {servedBy.map((served) => (
        <Text key={served.tier} size="sm" component="div">
          {servedBy.length > 1 ? `${tierNames[served.tier]}: ` : ''}
          <Price served={served} />
        </Text>
      ))}
    </>
  );
}

function Price({ served: { price, unpriced = [], models, tier } }: { served: Served }) {
  if (price) return `${formatMoney(price.input)} in, ${formatMoney(price.output)} out`;
  if (unpriced.length > 0) {
    return (
      <Badge
        variant="dot"
        color="yellow"
        tt="none"
        title={`No price is known for ${unpriced.join(', ')}: no cost is counted.`}
      >
        {unpriced.length === models.length ? 'unpriced' : `${unpriced.length} unpriced`}
      </Badge>
    );
  }
  return models.length > 1 ? 'by model' : tier === 'gpu' ? 'none: own hardware' : 'none';
}

/** Shows the recent speed. If several tiers serve the model, each has its own line. */
export function Speed({ model: { servedBy } }: { model: ServedModel }) {
  const measured = servedBy.filter(({ speed }) => speed !== undefined);
  if (measured.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        not measured
      </Text>
    );
  }
  return measured.map(({ tier, speed }) =>
    speed ? (
      <Text
        key={tier}
        size="sm"
        component="div"
        title={`Medians of ${formatCount(speed.answers)} streamed answers within the last hour`}
      >
        {servedBy.length > 1 ? `${tierNames[tier]}: ` : ''}
        {formatShort(speed.tokensPerSecond)} tokens/s, first after {formatDuration(speed.firstTokenMs)}
      </Text>
    ) : null,
  );
}
