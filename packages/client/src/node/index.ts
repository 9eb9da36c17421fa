export {
  type ConnectLocalOptions,
  type ConnectRemoteOptions,
  connectLocal,
  connectRemote,
} from './connect.js';
export { socketPathOf, unixConnector } from './unix-connector.js';
