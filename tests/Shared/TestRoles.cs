namespace Cairn.Testing;

/// <summary>Runs a test assembly as the second process of one of its own tests (see ChildProcess).</summary>
internal static class TestRoles
{
    /// <summary>Runs the role that the first argument names with the other arguments. Lists the roles and returns 2 if the name is unknown.</summary>
    public static int Run(IReadOnlyDictionary<string, Action<string[]>> roles, string[] args)
    {
        if (args.Length == 0 || !roles.TryGetValue(args[0], out Action<string[]>? role))
        {
            Console.Error.WriteLine($"Not for use by hand. Run ./test. Roles: {string.Join(", ", roles.Keys)}");
            return 2;
        }

        role(args[1..]);
        return 0;
    }
}
