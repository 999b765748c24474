using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Testing;

internal static class ConnectionExtensions
{
    /// <summary>Checks that a stopped server holds no bytes of its connections. Every test with a server calls this at its end.</summary>
    public static void AssertNothingHeld(this ServerEngine engine)
    {
        Assert.Equal(0, engine.Memory.ReplyBytes);
        Assert.Equal(0, engine.Memory.Bytes);
    }

    /// <summary>Runs an action on the connection's worker. The task passes its exception to the test.</summary>
    public static Task OnWorker(this ClientConnection connection, Action action) => connection.OnWorker(() =>
    {
        action();
        return true;
    });

    /// <summary>Waits until the client does not accept its replies, and the engine has noticed that.</summary>
    public static Task UntilBlocked(this ClientConnection connection) =>
        connection.UntilWorker(() => connection.BlockedSince != 0);

    /// <summary>Waits until a condition holds on the connection's worker.</summary>
    public static async Task UntilWorker(this ClientConnection connection, Func<bool> condition)
    {
        // Each check is a turn of the worker, in which the worker learns what has happened.
        while (!await connection.OnWorker(condition))
        {
        }
    }

    public static Task<T> OnWorker<T>(this ClientConnection connection, Func<T> function)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        connection.Worker.Post(() =>
        {
            try
            {
                done.SetResult(function());
            }
            catch (Exception e)
            {
                done.SetException(e);
            }
        });
        return done.Task;
    }
}
