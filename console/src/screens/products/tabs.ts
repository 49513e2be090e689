import { t } from '../../messages/messages.svelte.ts';

/** The screens of a product, for its title. */
export function productTabs(id: string): { href: string; title: string }[] {
  return [
    { href: `/products/${id}`, title: t('products.product') },
    { href: `/products/${id}/labels`, title: t('labels.title') },
    { href: `/products/${id}/consumer-page`, title: t('consumer.title') },
    { href: `/products/${id}/final-products`, title: t('products.finals') },
    { href: `/products/${id}/knowledge`, title: t('products.knowledge') },
    { href: `/products/${id}/history`, title: t('products.history') },
  ];
}
