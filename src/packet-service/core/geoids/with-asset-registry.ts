import { Problem } from '../../../platform/http/problems.ts';
import type { Settings } from '../../../platform/settings/settings.ts';

/** A hook that answers 501 if fields are registered in an asset registry. */
export function refuseWithAssetRegistry({
  ASSET_REGISTRY_URL,
}: Pick<Settings, 'ASSET_REGISTRY_URL'>): () => Promise<void> {
  return async () => {
    if (ASSET_REGISTRY_URL === undefined) return;
    throw new Problem('field.registered_elsewhere');
  };
}
