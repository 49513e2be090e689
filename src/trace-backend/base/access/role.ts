/** The global role of a user. */
export type Role = 'USER' | 'REGIONAL_ADMIN' | 'SYSTEM_ADMIN';
