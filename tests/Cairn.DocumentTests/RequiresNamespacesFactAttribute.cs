using System.ComponentModel;
using System.Diagnostics;

namespace Cairn.DocumentTests;

/// <summary>
/// A fact that needs a network and processes of its own, and these programs. If the kernel or the user's rights do not allow them, the test is
/// skipped with a message. With CI=true it runs, and fails.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RequiresNamespacesFactAttribute : FactAttribute
{
    /// <summary>The options of unshare. A user who is not root becomes root in a namespace of its own.</summary>
    public static readonly string[] Options =
        [.. Environment.IsPrivilegedProcess ? [] : (string[])["--map-root-user"], "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

    public RequiresNamespacesFactAttribute(params string[] tools)
    {
        Tools = tools;
        Skip = new RequiresToolFactAttribute(["unshare", "ip", .. tools]).Skip;
        if (Skip is null && Environment.GetEnvironmentVariable("CI") != "true" && !CanBeMade())
        {
            Skip = "this user may not make namespaces";
        }
    }

    public IReadOnlyList<string> Tools { get; }

    private static bool CanBeMade()
    {
        try
        {
            using var process = Process.Start(new ProcessStartInfo("unshare", [.. Options, "true"]) { UseShellExecute = false, RedirectStandardError = true });
            process!.WaitForExit();
            return process.ExitCode == 0;
        }
        catch (Win32Exception)
        {
            return false;
        }
    }
}
