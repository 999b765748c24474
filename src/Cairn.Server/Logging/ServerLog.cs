namespace Cairn.Server.Logging;

/// <summary>The log of a server. Called on any thread; must not block for long.</summary>
internal abstract class ServerLog
{
    /// <summary>Gets a log that discards all messages.</summary>
    public static ServerLog None { get; } = new NoLog();

    public abstract void Write(ServerLogLevel level, string message);

    private sealed class NoLog : ServerLog
    {
        public override void Write(ServerLogLevel level, string message)
        {
        }
    }
}
