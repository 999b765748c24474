using Cairn.Server.Tls;

namespace Cairn.Server.Connections;

/// <summary>The service for the clients of a listener: sessions, and TLS if there are certificates.</summary>
internal sealed record ListenerService(SessionFactory Sessions, CertificateSource? Certificates);
