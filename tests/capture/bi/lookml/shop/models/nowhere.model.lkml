connection: "not_mapped"
include: "/views/users.view"
explore: users {}
