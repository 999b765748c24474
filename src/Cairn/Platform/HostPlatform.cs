using System.Runtime.InteropServices;
using Cairn.Platform.Linux;
using Cairn.Platform.MacOs;
using Cairn.Platform.Windows;

namespace Cairn.Platform;

/// <summary>Chooses the platform of this process. The only type that knows all three systems.</summary>
internal static class HostPlatform
{
    private static readonly AsyncLocal<StorePlatform?> PlatformHook = new();
    private static StorePlatform? _current;

    /// <summary>The platform of this process.</summary>
    /// <exception cref="PlatformNotSupportedException">Cairn does not run on this system yet.</exception>
    public static StorePlatform Current =>
        // Stateless, so a second one made in a race is harmless.
        PlatformHook.Value ?? (_current ??= Create());

    /// <summary>What the stores that this test opens run on instead of <see cref="Current"/>; null for that.</summary>
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
