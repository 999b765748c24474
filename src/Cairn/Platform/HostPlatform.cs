using Cairn.Platform.Linux;
using Cairn.Platform.MacOs;
using Cairn.Platform.Windows;

namespace Cairn.Platform;

/// <summary>Chooses the platform of this process. This is the only type that knows all three systems.</summary>
internal static class HostPlatform
{
    private static readonly AsyncLocal<StorePlatform?> PlatformHook = new();
    private static StorePlatform? _current;

    /// <summary>Gets the platform of this process.</summary>
    /// <exception cref="PlatformNotSupportedException">Cairn does not run on this system yet.</exception>
    public static StorePlatform Current =>
        // The platform has no state, so a second one that is created in a race is harmless.
        PlatformHook.Value ?? (_current ??= Create());

    /// <summary>Gets or sets the platform that replaces <see cref="Current"/> in the calls of one test. Null for no replacement.</summary>
    internal static StorePlatform? Override
    {
        get => PlatformHook.Value;
        set => PlatformHook.Value = value;
    }

    private static StorePlatform Create() =>
        OperatingSystem.IsLinux() ? new LinuxPlatform()
        : OperatingSystem.IsWindows() ? new WindowsPlatform()
        : OperatingSystem.IsMacOS() ? new MacPlatform()
        : throw new PlatformNotSupportedException(
            $"Cairn's store runs on Linux, Windows and macOS; this is {RuntimeInformation.OSDescription}. Use a cache " +
            "server instead, or run the application in a Linux container.");
}
