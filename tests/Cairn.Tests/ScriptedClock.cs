namespace Cairn.Tests;

/// <summary>
/// The system's time. At the next read of the time, it runs an action of the test. That moment is between the beginning of an operation with an
/// expiration and its work.
/// </summary>
internal sealed class ScriptedClock : TimeProvider
{
    private Action? _action;

    public void AtNextLook(Action action) => _action = action;

    public override DateTimeOffset GetUtcNow()
    {
        Interlocked.Exchange(ref _action, null)?.Invoke();
        return base.GetUtcNow();
    }
}
