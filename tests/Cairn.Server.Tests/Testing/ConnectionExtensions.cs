using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Testing;

internal static class ConnectionExtensions
{
    /// <summary>Runs this on the connection's worker; the task brings its failure to the test.</summary>
    public static Task OnWorker(this ClientConnection connection, Action action) => connection.OnWorker(() =>
    {
        action();
        return true;
    });

    /// <summary>Waits until the client does not take what it is sent, and the engine has noticed.</summary>
    public static Task UntilBlocked(this ClientConnection connection) =>
        connection.UntilWorker(() => connection.BlockedSince != 0);

    /// <summary>Waits until this holds on the connection's worker.</summary>
    public static async Task UntilWorker(this ClientConnection connection, Func<bool> condition)
    {
        // Each look is a turn of the worker, in which it learns what has happened.
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
