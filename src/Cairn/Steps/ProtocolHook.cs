namespace Cairn.Steps;

// Lets tests control the steps of protocols: a schedule decides which thread takes the next step, or a process dies at exactly one step.
// The runtime setting "Cairn.ProtocolHooks" activates it and is read once. While it is off, IsActive is a constant for the
// optimizing compiler, and a step costs nothing.
internal static class ProtocolHook
{
    private static readonly bool IsActive =
        AppContext.TryGetSwitch("Cairn.ProtocolHooks", out bool isEnabled) && isEnabled;

    /// <summary>Gets or sets the action called at each step, on the thread that takes it. Set it before the tested store is opened.</summary>
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
