namespace Cairn.Tests;

/// <summary>The system's time, and something that a test does at the next moment it is asked for: between the beginning of an
/// operation that has an expiration and its work.</summary>
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
