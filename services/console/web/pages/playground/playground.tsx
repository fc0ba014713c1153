import type { RouterFacts, ServedModel } from '../../../contract/live.ts';
import { useApi } from '../../api/use-api.ts';
import { findServedFormats, type ServedFormat } from '../../formats/web-formats.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { canGenerate } from '../../parts/operations.ts';
import { Page } from '../../parts/page.tsx';
import './playground.css';
import { ConversationPage } from './conversation-page.tsx';

/** Lets a person converse with any model, in any format, over the paths that clients use. */
export function Playground() {
  const models = useApi<ServedModel[]>('/models', { everyMs: 15_000 });
  const routerFacts = useApi<RouterFacts>('/about');
  return (
    <Page
      title="Playground"
      description="Talk to any model as a client would, and see who answered. Conversations are kept in this browser only."
    >
      <Loaded query={models} contentName="the models">
        {(list) => (
          <Loaded query={routerFacts} contentName="the addresses">
            {(facts) => (
              <PlaygroundContent
                models={list.filter((model) => canGenerate(model) && !model.notPermitted)}
                formats={findServedFormats(facts)}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function PlaygroundContent({
  models,
  formats: [first, ...rest],
}: {
  models: readonly ServedModel[];
  formats: ServedFormat[];
}) {
  return first ? (
    <ConversationPage models={models} formats={[first, ...rest]} />
  ) : (
    <EmptyPanel title="This page is out of date">
      The router serves no format that this page supports. Reload the page after an update of the router.
    </EmptyPanel>
  );
}
