using System.Runtime.CompilerServices;

namespace Cairn.Steps;

// A seam for tests: a schedule that decides which thread takes the next step, or a death at exactly one step. It is
// switched on by the runtime setting "Cairn.ProtocolHooks", which is read once; while off, IsActive is a constant to
// the optimising compiler and a step costs nothing.
internal static class ProtocolHook
{
    private static readonly bool IsActive =
        AppContext.TryGetSwitch("Cairn.ProtocolHooks", out bool isEnabled) && isEnabled;

    /// <summary>Called at each step, on the thread that takes it. Set before the store under test is opened.</summary>
    public static Action<ProtocolStep>? Handler { get; set; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Reach(ProtocolStep step)
    {
        if (IsActive)
        {
            Handler?.Invoke(step);
        }
    }
}
