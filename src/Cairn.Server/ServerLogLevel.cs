namespace Cairn.Server;

/// <summary>The severity of a server's log message.</summary>
public enum ServerLogLevel
{
    /// <summary>Details for debugging.</summary>
    Debug = 0,

    /// <summary>Normal events: the server starts, listens, stops.</summary>
    Information,

    /// <summary>Something works less well than it could.</summary>
    Warning,

    /// <summary>Something failed.</summary>
    Error,
}
