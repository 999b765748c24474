using System.Reflection;

namespace Cairn.Cli;

/// <summary>The name and version of the tool, for messages and servers.</summary>
internal static class ToolIdentity
{
    public const string Name = "cairn";

    /// <summary>The version of the tool, without the commit it was built from.</summary>
    public static string Version =>
        typeof(ToolIdentity).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion.Split('+')[0];
}
