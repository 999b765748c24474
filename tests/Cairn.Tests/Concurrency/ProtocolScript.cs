using Cairn.Steps;

namespace Cairn.Tests.Concurrency;

/// <summary>The tests that act between steps. They run one at a time, because the process has only one hook.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class ProtocolScripts
{
    public const string Name = "Protocol scripts";
}

/// <summary>Runs an action when this thread first reaches a step of a protocol.</summary>
internal sealed class ProtocolScript : IDisposable
{
    private readonly Action<ProtocolStep>? _previous = ProtocolHook.Handler;
    private readonly int _thread = Environment.CurrentManagedThreadId;
    private readonly ProtocolStep _step;
    private readonly Action _action;

    public ProtocolScript(ProtocolStep step, Action action)
    {
        _step = step;
        _action = action;
        ProtocolHook.Handler = OnStep;
    }

    /// <summary>Gets whether the thread reached the step. A script that never ran proves nothing.</summary>
    public bool HasRun { get; private set; }

    public void Dispose() => ProtocolHook.Handler = _previous;

    private void OnStep(ProtocolStep step)
    {
        if (step == _step && !HasRun && Environment.CurrentManagedThreadId == _thread)
        {
            HasRun = true;
            _action();
        }
    }
}
