namespace Cairn.Server;

/// <summary>How much a message of a server matters.</summary>
public enum ServerLogLevel
{
    /// <summary>For whoever looks for a mistake.</summary>
    Debug = 0,

    /// <summary>What happens: starting, listening, stopping.</summary>
    Information,

    /// <summary>Something works less well than it could.</summary>
    Warning,

    /// <summary>Something failed.</summary>
    Error,
}
