namespace Cairn.Server.Connections;

/// <summary>Where the server says what happens to it. Called from any thread; must not block for long.</summary>
internal abstract class ServerLog
{
    /// <summary>Drops everything.</summary>
    public static ServerLog None { get; } = new NoLog();

    public abstract void Write(ServerLogLevel level, string message);

    private sealed class NoLog : ServerLog
    {
        public override void Write(ServerLogLevel level, string message)
        {
        }
    }
}
